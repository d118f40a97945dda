export { endInterruptedCalls } from './external-orders/end-interrupted-calls.ts'
export { sweepImportData } from './retention/sweep.ts'
export { isImportMessage, sweepImports, workOnImport, workOnImports } from './background/work.ts'
