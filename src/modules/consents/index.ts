export { loadConsentTenant } from './create.ts'
export { listForeignConsents } from './queries.ts'
export {
  buildAnswerAnnouncements,
  type DecidedAnswer,
  answerRaces,
  buildAnswerStatements,
  decideAnswerRecords,
  type AnswerRequest,
} from './answers/records.ts'
export { buildReturnStatements } from './answers/double-opt-in.ts'
export { listAddressAnswers, listPersonAnswers, findVersion, type PersonAnswer } from './answers/person-answers.ts'
export {
  selectAnswersToKeys,
  selectDecidingAnswer,
  type DecidingAnswer,
  eraseEvidence,
  hasReturned,
  countGivenAmong,
  countGiven,
  type MarketingScope,
  selectMarketingRefusal,
  selectMarketingStatus,
} from './answers/marketing.ts'
export {
  type CampaignSubscriber,
  listGivenConsents,
  resubscribe,
  unsubscribe,
  listWithdrawnConsents,
} from './answers/unsubscribe.ts'
export {
  listConsentsInEdition,
  loadImportDefinitions,
  type ImportDefinitions,
  decideImportedAnswers,
  type ImportedAnswers,
  type ImportedStatus,
  listMarketingDefinitions,
} from './answers/import.ts'
export { isAnsweredLater, loadImportedChains, type ImportedRecord, takeBackAnswers } from './answers/take-back.ts'
export {
  buildConsentMerge,
  buildConsentMergeAnnouncements,
  type ConsentMerge,
  listConsentCollisions,
  planConsentMerge,
} from './answers/merge.ts'
