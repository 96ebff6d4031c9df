// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { UserInput } from "./UserInput";

/**
 * A prompt that waits for its turn.
 */
export type QueuedSubmission = {
/**
 * The id.
 */
id: string,
/**
 * An id of the client's own for the message; it comes back in the item.
 */
clientUserMessageId: string,
/**
 * What the user says.
 */
input: Array<UserInput>,
/**
 * Texts that go to the model provider with the request.
 */
responsesapiClientMetadata?: { [key in string]: string } | null, };
