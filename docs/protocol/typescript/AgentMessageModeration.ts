// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AgentMessageDisplay } from "./AgentMessageDisplay";

/**
 * Decision of the moderation about a message.
 */
export type AgentMessageModeration = {
/**
 * Whether the message was moderated.
 */
moderated: boolean,
/**
 * Appearance.
 */
display?: AgentMessageDisplay | null, };
