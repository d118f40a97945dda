export { isImportWorkMessage, sweepImports, workOnImports } from './work.ts'
