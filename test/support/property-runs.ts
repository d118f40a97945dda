import { env } from 'cloudflare:workers'

/** The number of runs of a property whose cases take seconds: few in `npm test`, many in the slow tests. */
export const dearRuns = (all: number, few = 1): number => (env.PROPERTY_RUNS === 'all' ? all : few)
