// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How a moderated message is displayed.
 */
export type AgentMessageDisplay = {
/**
 * What is done with the message.
 */
action: string,
/**
 * Why the message was blocked.
 */
blockType?: string | null,
/**
 * Whether the client offers the user's trusted contacts.
 */
checkTrustedContacts?: boolean | null,
/**
 * Whether the client offers to apply for trusted access.
 */
cyberTrustedAccess?: boolean | null, };
