// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadMetadataGitInfoUpdateParams } from "./ThreadMetadataGitInfoUpdateParams";

/**
 * Params of `thread/metadata/update`.
 */
export type ThreadMetadataUpdateParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Changes of the stored state of the Git repository.
 */
gitInfo?: ThreadMetadataGitInfoUpdateParams | null, };
