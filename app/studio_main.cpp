#include "ui/shell/studio.h"

int main(int argc, char** argv) {
    return cuset::runStudio(argc, argv);
}
