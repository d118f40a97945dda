export { firstStatus, requestScan, scanStatements } from './scan.ts'
