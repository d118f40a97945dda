export {
  answerAnnouncements,
  type Answered,
  type AnsweredDefinition,
  type AnsweringUser,
  answerRaces,
  answerStatements,
  answered,
  type AskedAnswer,
  asLatest,
  latestOf,
  type RecordRow,
} from './records.ts'
export { answersOfPerson, findVersion, type PersonAnswer } from './person-answers.ts'
