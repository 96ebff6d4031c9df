// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { HookPromptFragment } from "./HookPromptFragment";

/**
 * Texts that hooks added to the conversation.
 */
export type HookPromptItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * The texts.
 */
fragments: Array<HookPromptFragment>,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null, };
