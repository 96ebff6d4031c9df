// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A text that a hook put into the conversation.
 */
export type HookPromptFragment = {
/**
 * The run of the hook.
 */
hookRunId: string,
/**
 * The text.
 */
text: string, };
