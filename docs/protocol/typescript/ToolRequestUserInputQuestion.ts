// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ToolRequestUserInputOption } from "./ToolRequestUserInputOption";

/**
 * A question to the user.
 */
export type ToolRequestUserInputQuestion = {
/**
 * The id that the answer refers to.
 */
id: string,
/**
 * A short title.
 */
header: string,
/**
 * The question.
 */
question: string,
/**
 * Whether the user may write an answer of their own.
 */
isOther?: boolean | null,
/**
 * Whether the answer is hidden while it is written.
 */
isSecret?: boolean | null,
/**
 * The answers on offer.
 */
options?: Array<ToolRequestUserInputOption> | null, };
