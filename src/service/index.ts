export { openingBalance } from './admin/projects.js';
export type {
  Administration,
  ApiKey,
  Delivery,
  EmailDelivery,
  FinishAs,
  Hold,
  KeyScope,
  LaneStatus,
  LaneSummary,
  LedgerEntry,
  ProjectAdministration,
  ProjectSummary,
  Pruned,
  ServiceStatus,
  SignIn,
  SlowLane,
  SmsDelivery,
  StoppedBatch,
} from './administration.js';
export type { CarrierCheck, RouteTrial, TrialAnswer } from './carriers/configured/configuration.js';
export { type Clock, ManualClock, systemClock } from './clock.js';
export { checkConfiguration, tryRoute, warningsOf } from './configuration.js';
export { createService } from './create-service.js';
export {
  abandonMove,
  type Backup,
  backup,
  checkFree,
  type Moved,
  moveData,
  restore,
} from './data/data-copies.js';
export { type Mismatch, verify } from './data/verify-data.js';
export { DataError } from './errors/data-error.js';
export { EngineError } from './errors/engine-error.js';
export { type FaultOnDemand, faultsOnDemand } from './fault-injection/faults.js';
export type {
  AddedSuppressions,
  DnsRecord,
  ReceivedMessage,
  Suppression,
} from './inbox/mail-administration.js';
export { type OpenedAdministration, openAdministration } from './open-administration.js';
export type { Fault } from './report.js';
export type {
  Listening,
  Network,
  PlainRequest,
  SeenRequest,
  ServedListening,
  Service,
  ServiceOptions,
} from './service.js';
export type { Settings, SettingsPatch } from './settings.js';
