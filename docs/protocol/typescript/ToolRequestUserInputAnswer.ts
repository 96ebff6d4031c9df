// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The answers to one question.
 */
export type ToolRequestUserInputAnswer = {
/**
 * What the user chose or wrote.
 */
answers: Array<string>, };
