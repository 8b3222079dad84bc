#include "replay/program.h"

int main(int argc, char** argv) { return weir::replay::run_program(argc, argv); }
