// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How a moderated message is shown.
 */
export type AgentMessageDisplay = {
/**
 * What is done with the message.
 */
action: string,
/**
 * Why the message was held back.
 */
blockType?: string | null,
/**
 * Whether the user's trusted contacts are offered.
 */
checkTrustedContacts?: boolean | null,
/**
 * Whether the user is offered to apply for trusted access.
 */
cyberTrustedAccess?: boolean | null, };
