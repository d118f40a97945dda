export {
  answerAnnouncements,
  type DecidedAnswer,
  answerRaces,
  answerStatements,
  answered,
  type AskedAnswer,
  asLatest,
} from './records.ts'
export { answersOfPerson, findVersion, type PersonAnswer } from './person-answers.ts'
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
} from './marketing.ts'
export { type CampaignSubscriber, givenConsents, resubscribe, unsubscribe, withdrawnConsents } from './unsubscribe.ts'
export {
  consentsInEdition,
  importDefinitions,
  type ImportDefinitions,
  importedAnswers,
  type ImportedAnswers,
} from './import.ts'
export { answeredLater, importedChains, type ImportedRecord, takeBackAnswers } from './taken-back.ts'
