// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What an active thread waits for.
 */
export type ThreadActiveFlag = "waitingOnApproval" | "waitingOnUserInput";
