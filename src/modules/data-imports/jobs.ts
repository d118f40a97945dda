export { sweepImportData } from './retention/sweep.ts'
export { isImportWorkMessage, sweepImports, workOnImport, workOnImports } from './work.ts'
