export { servedFiles } from './public-routes.ts'
