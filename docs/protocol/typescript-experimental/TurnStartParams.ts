// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { AdditionalContextEntry } from "./AdditionalContextEntry";
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { CollaborationMode } from "./CollaborationMode";
import type { CyberAccessProgram } from "./CyberAccessProgram";
import type { JsonValue } from "./JsonValue";
import type { MultiAgentMode } from "./MultiAgentMode";
import type { Personality } from "./Personality";
import type { ReasoningSummary } from "./ReasoningSummary";
import type { SandboxPolicy } from "./SandboxPolicy";
import type { TurnEnvironmentParams } from "./TurnEnvironmentParams";
import type { TurnToolOutput } from "./TurnToolOutput";
import type { UserInput } from "./UserInput";

/**
 * Params of `turn/start`.
 */
export type TurnStartParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * What the user says.
 */
input: Array<UserInput>,
/**
 * Texts beside the input, by a name that the client chose.
 */
additionalContext?: { [key in string]: AdditionalContextEntry } | null,
/**
 * When the user is asked.
 */
approvalPolicy?: AskForApproval | null,
/**
 * Who answers approval requests.
 */
approvalsReviewer?: ApprovalsReviewer | null,
/**
 * An id of the client's own for the message; it comes back in the item.
 */
clientUserMessageId?: string | null,
/**
 * The mode of working together.
 */
collaborationMode?: CollaborationMode | null,
/**
 * The working directory.
 */
cwd?: string | null,
/**
 * The program for work on security that the turn is under.
 */
cyberAccessProgram?: CyberAccessProgram | null,
/**
 * The plugins that the thread does without.
 */
disabledPluginIds?: Array<string> | null,
/**
 * How hard the model thinks.
 */
effort?: string | null,
/**
 * Where commands run.
 */
environments?: Array<TurnEnvironmentParams> | null,
/**
 * The model.
 */
model?: string | null,
/**
 * When the model starts agents by itself.
 */
multiAgentMode?: MultiAgentMode | null,
/**
 * The schema that the answer has to follow.
 */
outputSchema?: JsonValue | null,
/**
 * The turn that made the client start this one.
 */
parentTurnId?: string | null,
/**
 * The permission profile; not together with a sandbox.
 */
permissions?: string | null,
/**
 * The tone of the model.
 */
personality?: Personality | null,
/**
 * Texts that go to the model provider with the request.
 */
responsesapiClientMetadata?: { [key in string]: string } | null,
/**
 * Changes of these texts.
 */
responsesapiClientMetadataPatch?: { [key in string]: string } | null,
/**
 * The first turn of the chain that led to this one.
 */
rootTurnId?: string | null,
/**
 * The directories that count as the workspace.
 */
runtimeWorkspaceRoots?: Array<AbsolutePath> | null,
/**
 * What commands may touch.
 */
sandboxPolicy?: SandboxPolicy | null,
/**
 * The level of service.
 */
serviceTier?: string | null,
/**
 * The level of service of this turn alone.
 */
serviceTierForTurn?: string | null,
/**
 * How the model sums up what it thought.
 */
summary?: ReasoningSummary | null,
/**
 * The output of a tool, instead of a text.
 */
toolOutput?: TurnToolOutput | null,
/**
 * What made the client start the turn.
 */
turnTrigger?: string | null, };
