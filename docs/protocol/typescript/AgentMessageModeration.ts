// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AgentMessageDisplay } from "./AgentMessageDisplay";

/**
 * What a moderator decided about a message.
 */
export type AgentMessageModeration = {
/**
 * Whether it was held back.
 */
moderated: boolean,
/**
 * How it is shown.
 */
display?: AgentMessageDisplay | null, };
