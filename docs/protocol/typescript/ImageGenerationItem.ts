// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { ImageGenerationFailure } from "./ImageGenerationFailure";
import type { ImageGenerationInputImage } from "./ImageGenerationInputImage";

/**
 * An image that the model generates.
 */
export type ImageGenerationItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * The status.
 */
status: string,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * Why there is no image. `null` if it did not fail.
 */
failure?: ImageGenerationFailure | null,
/**
 * Id that the provider gave to the image.
 */
generationId?: string | null,
/**
 * Images from which it is generated.
 */
inputImages?: Array<ImageGenerationInputImage> | null,
/**
 * The prompt as the provider revised it.
 */
revisedPrompt?: string | null,
/**
 * The file in which it was stored.
 */
savedPath?: AbsolutePath | null,
/**
 * Whether the background is transparent.
 */
transparentBackground?: boolean | null, } & ({
/**
 * The image in base64. Empty until it is complete.
 */
result: string, } | {
/**
 * Id that the provider gave to the file.
 */
fileId: string, });
