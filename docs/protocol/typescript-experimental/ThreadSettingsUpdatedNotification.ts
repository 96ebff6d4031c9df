// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadSettings } from "./ThreadSettings";

/**
 * Params of the notification `thread/settings/updated`.
 */
export type ThreadSettingsUpdatedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * The settings.
 */
threadSettings: ThreadSettings, };
