// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ToolRequestUserInputQuestion } from "./ToolRequestUserInputQuestion";

/**
 * Params of the request to the client `item/tool/requestUserInput`.
 */
export type ToolRequestUserInputParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * Id of the item.
 */
itemId: string,
/**
 * Whether the turn waits for the answers.
 */
isBlocking: boolean,
/**
 * The questions.
 */
questions: Array<ToolRequestUserInputQuestion>,
/**
 * Time after which the request is answered automatically, in milliseconds.
 */
autoResolutionMs?: number | null, };
