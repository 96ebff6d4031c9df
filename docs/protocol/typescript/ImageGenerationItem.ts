// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { ImageGenerationFailure } from "./ImageGenerationFailure";
import type { ImageGenerationInputImage } from "./ImageGenerationInputImage";

/**
 * A picture that the model makes.
 */
export type ImageGenerationItem = {
/**
 * The id.
 */
id: string,
/**
 * How far it is, or what became of it.
 */
status: string,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * Why there is none.
 */
failure?: ImageGenerationFailure | null,
/**
 * The provider's id of the picture.
 */
generationId?: string | null,
/**
 * The pictures that it is made from.
 */
inputImages?: Array<ImageGenerationInputImage> | null,
/**
 * What the picture was made from in the end.
 */
revisedPrompt?: string | null,
/**
 * The file that it was stored in.
 */
savedPath?: AbsolutePath | null,
/**
 * Whether there is nothing behind it.
 */
transparentBackground?: boolean | null, } & ({
/**
 * The picture in base64; empty while it is made.
 */
result: string, } | {
/**
 * The provider's id of the file.
 */
fileId: string, });
