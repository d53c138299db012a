/** In place of a module that is never used. */
export default undefined
