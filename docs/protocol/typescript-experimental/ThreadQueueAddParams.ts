// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { UserInput } from "./UserInput";

/**
 * Params of `thread/queue/add`.
 */
export type ThreadQueueAddParams = {
/**
 * The thread.
 */
threadId: string,
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
