import { env } from 'cloudflare:workers'

/** How often a property is tried whose cases take seconds each: seldom by `npm test`, always so often by the slow tests. */
export const dearRuns = (all: number, few = 1): number => (env.PROPERTY_RUNS === 'all' ? all : few)
