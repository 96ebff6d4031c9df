// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What a message is within its turn.
 */
export type MessagePhase = "commentary" | "partial_answer" | "final_answer";
