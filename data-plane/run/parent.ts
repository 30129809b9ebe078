/** The process that started this one with a channel: the supervisor of a worker, or the launcher. */

/** Ends this process when its parent has ended, since nobody else would stop it. */
export class ParentProcess {
  #act: () => void = () => process.exit(0);

  /** Until `whenGone` is called, this process ends at once: a start has nothing that must be closed. */
  constructor() {
    process.on('disconnect', () => this.#act());
    // The parent ended while this program was loaded. No event follows.
    if (process.send && !process.connected) process.exit(0);
  }

  /** Calls `act` instead when the parent has ended. */
  whenGone(act: () => void): void {
    this.#act = act;
  }
}
