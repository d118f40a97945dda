export { commitAnswers, decidePersonAnswer, type Visit } from './commit-answers.ts'
export {
  type ConfirmationContent,
  type LinkPage,
  renderConfirmationPage,
  renderInvalidLinkPage,
  renderLanguageLinks,
  renderWording,
} from './page.ts'
export { parsePageLanguage } from './words.ts'
