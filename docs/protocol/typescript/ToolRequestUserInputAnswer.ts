// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The answers to one question.
 */
export type ToolRequestUserInputAnswer = {
/**
 * Choices or texts of the user.
 */
answers: Array<string>, };
