interface Guard {
  holders: number;
  removal: Promise<void> | undefined;
}

/**
 * Who holds which blob, and which are being removed. A holder waits for a removal under way and then finds the blob
 * gone; a removal never begins while there is a holder. Together they guarantee that no blob in use disappears.
 */
export class BlobGuards {
  readonly #guards = new Map<string, Guard>();

  /** Resolves with the function that lets go, which may be called more than once. */
  async hold(digest: string): Promise<() => void> {
    const guard = this.#guardOf(digest);
    guard.holders++;
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      guard.holders--;
      this.#forget(digest, guard);
    };
    // Others may not begin while this one counts as a holder, so one wait is enough.
    await guard.removal;
    return release;
  }

  /** Runs `removal` alone. False, and nothing done, when the blob is held or another removal is under way. */
  async remove(digest: string, removal: () => Promise<void>): Promise<boolean> {
    const guard = this.#guardOf(digest);
    if (guard.holders > 0 || guard.removal !== undefined) return false;
    const work = removal();
    // Waiting holders only need to know that it is over.
    guard.removal = work.catch(() => undefined);
    try {
      await work;
      return true;
    } finally {
      guard.removal = undefined;
      this.#forget(digest, guard);
    }
  }

  #guardOf(digest: string): Guard {
    let guard = this.#guards.get(digest);
    if (guard === undefined) this.#guards.set(digest, (guard = { holders: 0, removal: undefined }));
    return guard;
  }

  #forget(digest: string, guard: Guard): void {
    if (guard.holders === 0 && guard.removal === undefined) this.#guards.delete(digest);
  }
}
