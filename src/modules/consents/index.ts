export {
  answerAnnouncements,
  type DecidedAnswer,
  answerRaces,
  answerStatements,
  answered,
  type AskedAnswer,
} from './answers/records.ts'
export { answersOfPerson, findVersion, type PersonAnswer } from './answers/person-answers.ts'
export {
  answersToKeys,
  decidingAnswer,
  type DecidingAnswer,
  erasedAnswers,
  givenAmong,
  givenCount,
  type MarketingScope,
  marketingRefusal,
  marketingStatus,
} from './answers/marketing.ts'
export {
  type CampaignSubscriber,
  givenConsents,
  resubscribe,
  unsubscribe,
  withdrawnConsents,
} from './answers/unsubscribe.ts'
export {
  consentsInEdition,
  importDefinitions,
  type ImportDefinitions,
  importedAnswers,
  type ImportedAnswers,
} from './answers/import.ts'
export { answeredLater, importedChains, type ImportedRecord, takeBackAnswers } from './answers/taken-back.ts'
