/**
 * A command cannot be applied to the state that it found, and would not be on any replica: it is rejected everywhere, and
 * the log goes on. Other errors concern one node, and must not make its replica skip a command.
 */
export class Rejection extends Error {}
