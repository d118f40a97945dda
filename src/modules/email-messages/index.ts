export { loadTemplate } from './templates.ts'
