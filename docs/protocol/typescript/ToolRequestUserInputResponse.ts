// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ToolRequestUserInputAnswer } from "./ToolRequestUserInputAnswer";

/**
 * Response to `item/tool/requestUserInput`.
 */
export type ToolRequestUserInputResponse = {
/**
 * The answers, by the id of the question.
 */
answers: { [key in string]: ToolRequestUserInputAnswer }, };
