// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ToolRequestUserInputQuestion } from "./ToolRequestUserInputQuestion";

/**
 * Params of the request to the client `item/tool/requestUserInput`.
 */
export type ToolRequestUserInputParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * The item.
 */
itemId: string,
/**
 * Whether the turn waits for the answer.
 */
isBlocking: boolean,
/**
 * The questions.
 */
questions: Array<ToolRequestUserInputQuestion>,
/**
 * After how many milliseconds the question answers itself.
 */
autoResolutionMs?: number | null, };
