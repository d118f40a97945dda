import { AppError, notFound } from '../../domain/errors.ts'
import { findNearestName } from '../../domain/text/nearest.ts'

interface Route {
  method: string
  path: string
}

/** True if the path matches the route, with or without a slash at its end. */
function matchesRoute(route: string, path: string): boolean {
  if (route.endsWith('/*')) return path.startsWith(route.slice(0, -1))
  const [names, segments] = [route, path].map((text) => text.replace(/\/$/, '').split('/')) as [string[], string[]]
  return (
    names.length === segments.length &&
    names.every((name, index) => (name.startsWith(':') ? segments[index] !== '' : name === segments[index]))
  )
}

const isFixed = ({ path }: Route): boolean => !path.includes(':')

/** The routes that match a path, without middleware (`ALL`). A fixed path never counts as an `{id}`. */
function findRoutes(routes: readonly Route[], path: string): Route[] {
  const matches = routes.filter((route) => route.method !== 'ALL' && matchesRoute(route.path, path))
  const fixedMatches = matches.filter(isFixed)
  return fixedMatches.length ? fixedMatches : matches
}

function createMethodError(routes: readonly Route[]): AppError {
  const methods = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const allow = [...new Set(methods)].join(', ')
  return new AppError('method_not_allowed', `This path supports ${allow}.`, { headers: { allow } })
}

const maxPathLength = 200

/** Finds a path of the API that differs from a path by the spelling of its names. Ids stay as they are. */
function findNearPath(routes: readonly Route[], path: string): string | null {
  if (path.length > maxPathLength) return null
  const segments = path.replace(/\/$/, '').split('/')
  const wholeSegments = segments[1] === 'v1' ? segments : ['', 'v1', ...segments.slice(1)]
  const names = [...new Set(routes.map((route) => route.path))]
    .filter((name) => name.startsWith('/v1/'))
    .map((name) => name.split('/'))
    .filter(({ length }) => length === wholeSegments.length)
  const nearPaths = names.flatMap((parts) => {
    const nearParts = parts.map((part, index) => {
      const segment = wholeSegments[index] ?? ''
      return part.startsWith(':') || part === segment ? segment : findNearestName(segment, [part])
    })
    const changedSegments = nearParts.filter((part, index) => part !== wholeSegments[index]).length
    return nearParts.includes(null) || nearParts.some((part, index) => part === '' && index > 0)
      ? []
      : [{ path: nearParts.join('/'), changed: changedSegments }]
  })
  return nearPaths.toSorted((one, other) => one.changed - other.changed)[0]?.path ?? null
}

/** The error for a request without a route: 405 with `Allow` if the path has other methods, otherwise 404. */
export function createRouteError(routes: readonly Route[], path: string): AppError {
  const matches = findRoutes(routes, path)
  if (matches.length) return createMethodError(matches)
  const nearPath = findNearPath(routes, path)
  return nearPath === null ? notFound() : notFound(`Not found. Did you mean \`${nearPath}\`?`)
}

/**
 * Returns a check that refuses other methods on fixed paths such as `/v1/editions/_meta`, which would otherwise run the
 * operation of `/v1/editions/{id}`.
 */
export function createMethodCheck(routes: readonly Route[]): (method: string, path: string) => void {
  const routesByPath = Map.groupBy(
    routes.filter((route) => route.method !== 'ALL' && isFixed(route)),
    ({ path }) => path,
  )
  return (method, path) => {
    const pathRoutes = routesByPath.get(path.replace(/\/$/, ''))
    if (pathRoutes && !pathRoutes.some((route) => route.method === (method === 'HEAD' ? 'GET' : method)))
      throw createMethodError(pathRoutes)
  }
}
