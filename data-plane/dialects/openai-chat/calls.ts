/** Which tool call a delta belongs to: providers count them in different ways. */

/** A call in the making. */
export interface Call {
  key: string;
  wireIndex: number | undefined;
  id: string;
  name: string;
  custom: boolean;
  /** The client was told of it. */
  opened: boolean;
  /** Arguments that came before the name. */
  early: string;
}

/** What a delta says of its call; '' where it says nothing. */
export interface CallHint {
  wireIndex: number | undefined;
  id: string;
  name: string;
  custom: boolean;
}

/** The calls of one choice, in the order of their first delta. */
export class CallBook {
  readonly calls: Call[] = [];

  /** The call that the delta continues, or a new one. */
  callOf(hint: CallHint): Call {
    const known = this.#find(hint);
    if (known) return known;
    const { wireIndex, custom } = hint;
    const key = `call ${this.calls.length}`;
    const call = { key, wireIndex, id: '', name: '', custom, opened: false, early: '' };
    this.calls.push(call);
    return call;
  }

  /** Mistral sends no index; Cerebras sends several calls under one. */
  #find({ wireIndex, id, name }: CallHint): Call | undefined {
    if (wireIndex === undefined) {
      if (!id && !name) return this.calls.at(-1);
      return this.calls.find((call) => id !== '' && call.id === id);
    }
    const call = this.calls.findLast((one) => one.wireIndex === wireIndex);
    return call && id && call.id && call.id !== id && name ? undefined : call;
  }
}
