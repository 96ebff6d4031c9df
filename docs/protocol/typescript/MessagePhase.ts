// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Role of a message within its turn.
 */
export type MessagePhase = "commentary" | "partial_answer" | "final_answer";
