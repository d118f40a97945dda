export { isImportWorkMessage, sweepImports, workOnImport, workOnImports } from './work.ts'
