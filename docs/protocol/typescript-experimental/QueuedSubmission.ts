// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { UserInput } from "./UserInput";

/**
 * A prompt in the queue of a thread.
 */
export type QueuedSubmission = {
/**
 * Id of the entry.
 */
id: string,
/**
 * Id of the message, chosen by the client. The user message item contains it.
 */
clientUserMessageId: string,
/**
 * Input of the user.
 */
input: Array<UserInput>,
/**
 * Metadata that is sent to the model provider with the request.
 */
responsesapiClientMetadata?: { [key in string]: string } | null, };
