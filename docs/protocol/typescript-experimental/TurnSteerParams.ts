// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AdditionalContextEntry } from "./AdditionalContextEntry";
import type { UserInput } from "./UserInput";

/**
 * Params of `turn/steer`.
 */
export type TurnSteerParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn that the client takes for the running one.
 */
expectedTurnId: string,
/**
 * What the user says.
 */
input: Array<UserInput>,
/**
 * Texts beside the input, by a name that the client chose.
 */
additionalContext?: { [key in string]: AdditionalContextEntry } | null,
/**
 * An id of the client's own for the message; it comes back in the item.
 */
clientUserMessageId?: string | null,
/**
 * Texts that go to the model provider with the request.
 */
responsesapiClientMetadata?: { [key in string]: string } | null,
/**
 * Changes of these texts.
 */
responsesapiClientMetadataPatch?: { [key in string]: string } | null, };
