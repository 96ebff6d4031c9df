// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ToolRequestUserInputOption } from "./ToolRequestUserInputOption";

/**
 * A question to the user.
 */
export type ToolRequestUserInputQuestion = {
/**
 * Id of the question, which its answer refers to.
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
 * Whether the user may write another answer.
 */
isOther?: boolean | null,
/**
 * Whether the answer is hidden while it is typed.
 */
isSecret?: boolean | null,
/**
 * Answers to choose from.
 */
options?: Array<ToolRequestUserInputOption> | null, };
