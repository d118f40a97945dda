/** Lets requests that wait come in between two transactions of a sweep. */
export const giveWay = (): Promise<void> => scheduler.wait(0)
