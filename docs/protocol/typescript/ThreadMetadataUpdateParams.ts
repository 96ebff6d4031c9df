// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadMetadataGitInfoUpdateParams } from "./ThreadMetadataGitInfoUpdateParams";

/**
 * Params of `thread/metadata/update`.
 */
export type ThreadMetadataUpdateParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * What changes of what is known of the repository.
 */
gitInfo?: ThreadMetadataGitInfoUpdateParams | null, };
