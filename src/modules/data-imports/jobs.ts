export { sweepImportData } from './retention/sweep.ts'
export { isImportMessage, sweepImports, workOnImport, workOnImports } from './background/work.ts'
