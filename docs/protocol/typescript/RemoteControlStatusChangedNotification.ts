// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { RemoteControlConnectionStatus } from "./RemoteControlConnectionStatus";

/**
 * Params of the notification `remoteControl/status/changed`.
 */
export type RemoteControlStatusChangedNotification = {
/**
 * Id of this installation.
 */
installationId: string,
/**
 * Name of this machine.
 */
serverName: string,
/**
 * The status.
 */
status: RemoteControlConnectionStatus,
/**
 * Id of the environment that is controlled.
 */
environmentId?: string | null, };
