/** Assigns the tool call deltas of a stream to tool calls, which providers identify in different ways. */

/** A tool call of a streamed answer, as far as it has come. */
export interface StreamedToolCall {
  /** Key of the call's block. */
  key: string;
  wireIndex: number | undefined;
  id: string;
  name: string;
  custom: boolean;
  /** Whether the start of the call's block was reported. */
  opened: boolean;
  /** Arguments that came before the name. */
  earlyText: string;
}

/** Data about the tool call in a delta; id and name are '' if the delta lacks them. */
interface ToolCallDelta {
  wireIndex: number | undefined;
  id: string;
  name: string;
  custom: boolean;
}

/** The tool calls of one choice, in the order of their first deltas. */
export class ToolCallTracker {
  readonly calls: StreamedToolCall[] = [];

  /** Returns the tool call that the delta continues, or a new one. */
  callFor(delta: ToolCallDelta): StreamedToolCall {
    const known = this.#find(delta);
    if (known) return known;
    const { wireIndex, custom } = delta;
    const key = `call ${this.calls.length}`;
    const call = { key, wireIndex, id: '', name: '', custom, opened: false, earlyText: '' };
    this.calls.push(call);
    return call;
  }

  /** Mistral sends no index; Cerebras sends several tool calls with the same index. */
  #find({ wireIndex, id, name }: ToolCallDelta): StreamedToolCall | undefined {
    if (wireIndex === undefined) {
      if (!id && !name) return this.calls.at(-1);
      return this.calls.find((call) => id !== '' && call.id === id);
    }
    const call = this.calls.findLast((one) => one.wireIndex === wireIndex);
    return call && id && call.id && call.id !== id && name ? undefined : call;
  }
}
