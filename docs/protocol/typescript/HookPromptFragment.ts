// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A text that a hook added to the conversation.
 */
export type HookPromptFragment = {
/**
 * Id of the hook run.
 */
hookRunId: string,
/**
 * The text.
 */
text: string, };
