export { sweepScans } from './jobs-scan.ts'
