/** The members of an object that another server sent; none where it sent anything else. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** What an answer says that went wrong: servers leave either out. */
export const failureText = (error: unknown, reason: unknown): string =>
  [error, reason]
    .filter((each) => each !== undefined)
    .map(String)
    .join(': ');
