import { AppError, notFound } from '../domain/errors.ts'
import type { Operation } from './operation.ts'

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`)

/** Why no operation answered: 405 with `Allow` where the path has other methods, else 404. */
export function unrouted(operations: readonly Operation[], path: string): AppError {
  const methods = operations
    .filter((operation) => patternOf(operation.path).test(path))
    .map(({ method }) => method.toUpperCase())
  if (methods.length === 0) return notFound()
  const allow = [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].join(', ')
  return new AppError('method_not_allowed', `This path has ${allow}.`, { headers: { allow } })
}
